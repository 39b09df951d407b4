"""Origins that several topics share: where people make such claims."""

POSTS = "posts and answers on overriding TensorFlow's back-propagation"
SLIDES = "course slides on TensorFlow 1.x"
