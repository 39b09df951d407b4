"""The driver of the browser waits also on pages whose scripts are switched off."""

from __future__ import annotations

import pytest

from tf_opdiff.reports.tests.browser import Browser


@pytest.mark.browser
def test_until_waits_on_a_page_whose_scripts_are_switched_off(browser: Browser) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        start = browser.js("performance.now()")
        assert browser.until(f"performance.now() > {start + 200}")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
