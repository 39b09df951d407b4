"""A program server whose `tf.floor` is one too large beyond 2 in every mode but eager."""

from tf_opdiff.discover.programs.program_server import ProgramServer

_FAULT = "(lambda t: tf.floor(t) + tf.cast(t > 2, t.dtype))("


class PlantedServer(ProgramServer):
    def run(self, text, mode, draws, unknown=False):
        return super().run(text if mode == "eager" else text.replace("tf.floor(", _FAULT), mode, draws, unknown)
