import assert from "node:assert/strict";
import type { WebSession } from "../../services/people/identity/mod.ts";
import { KeptForms } from "../../web/kept_forms.ts";
import { TestScheduler } from "../support/scheduler.ts";
import { BY_OPERATOR } from "../support/services.ts";

const MINUTE = 60_000;

Deno.test("kept forms are dropped when their time is over, and then no timer is left", () => {
  const clock = new TestScheduler();
  const forms = new KeptForms(clock);
  const session: WebSession = {
    principal: Object.assign({}, BY_OPERATOR.principal, { id: "01J0000000000000000000000A" }),
    secret: "secret",
    csrfToken: "token",
    expiresAt: 0,
    renewed: false,
  };
  forms.recognize(session);
  const keep = () => {
    const form = new URLSearchParams({ csrf: "token", action: "file", title: "Tea" });
    const address = forms.keep(new URL("http://muster.test/projects/demo/tickets/new"), form);
    return new URL(address ?? "", "http://muster.test");
  };
  const first = keep();
  clock.advance(20 * MINUTE);
  const second = keep();
  assert.equal(clock.pending, 1);
  clock.advance(10 * MINUTE);
  assert.equal(forms.find(first, session), null);
  assert.equal(forms.find(second, session)?.get("title"), "Tea");
  assert.equal(clock.pending, 1);
  clock.advance(20 * MINUTE);
  assert.equal(forms.find(second, session), null);
  assert.equal(clock.pending, 0);
});
