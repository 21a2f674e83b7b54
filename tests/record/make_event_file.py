"""Prints the golden bytes of event_file_test.cpp in hexadecimal, as TensorBoard's own writer makes them.

usage: make_event_file.py      (needs tensorboard from PyPI; 2.21.0 made what stands in the test)
"""
import io

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

out = io.BytesIO()
writer = RecordWriter(out)


def scalar(tag, step, value, wall_time):
    one = summary_pb2.Summary.Value(tag=tag, simple_value=value)
    event = event_pb2.Event(wall_time=wall_time, step=step, summary=summary_pb2.Summary(value=[one]))
    writer.write(event.SerializeToString())


writer.write(event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2").SerializeToString())
scalar("loss/train", 1, 4.1, 1700000001.5)
scalar("loss/train", 0, 0.0, 1700000002.0)
scalar("\u03c0", 300, float("inf"), 1700000003.0)
scalar("x" * 200, 1 << 40, -2.5, 0.0)
print(out.getvalue().hex())
