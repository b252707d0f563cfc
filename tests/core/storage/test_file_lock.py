import psutil
import pytest

from core.storage.file_lock import holder, is_held, take

pytestmark = pytest.mark.quick


def test_a_lock_has_one_holder_and_ends_with_it(tmp_path):
    path = tmp_path / "folder" / "a.lock"
    assert not is_held(path)
    assert holder(path) is None
    with take(path):
        assert is_held(path)
        assert holder(path) == psutil.Process().pid
        assert take(path, wait_s=0) is None
    assert not is_held(path)
    again = take(path, wait_s=0)
    assert again is not None
    again.close()
