"""The pipeline of the slides to the letter: a shuffling queue, a queue runner, images flipped at random."""
