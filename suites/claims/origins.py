"""Origins: where several topics' claims are made."""

POSTS = "posts and answers on overriding TensorFlow's back-propagation"
SLIDES = "course slides on TensorFlow 1.x"
