"""stop_gradient in one of two paths."""
