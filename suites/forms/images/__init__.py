"""Images: what ops share that crop and transform images."""
