import { Forbidden, NotFound, Unauthorized } from "../../services/kernel/errors.ts";
import { loginSchema } from "../../services/people/admins/schemas.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { Form, nextOf, TextField } from "../parts/form.tsx";
import type { Visit } from "../visit.ts";

/**
 * Log in and out. Forms go to `/enter`, because `POST /login` is the API's and takes JSON. One name
 * and one password work on IRC and here.
 */
export const page = definePage({ opens: "anybody", show, actions: { enter, leave } });

function show(visit: Visit): View | Response {
  const next = nextOf(visit);
  const elsewhere = visit.isFromBrowser ? visit.loginElsewhere(next) : null;
  if (elsewhere !== null) return visit.context.redirect(elsewhere, 303);
  // Also for a form of another tab, in which the person was still a guest.
  if (visit.session !== null) return visit.context.redirect(next, 303);
  const body = (
    <section class="narrow">
      <h1>Log in to muster</h1>
      <Form visit={visit} action="enter" to="/enter">
        <input type="hidden" name="next" value={next} />
        <TextField visit={visit} name="username" label="Name" required autocomplete="username" />
        <TextField
          visit={visit}
          name="password"
          label="Password"
          type="password"
          required
          autocomplete="current-password"
        />
        <button class="primary" type="submit">Log in</button>
      </Form>
      <p class="soft small below-form">
        Admins log in here, and so does everybody with an account on the IRC server. A session lasts
        12 hours after its last use.
      </p>
      <p class="small">
        <a href="/projects">Public projects</a>
      </p>
    </section>
  );
  return { title: "Log in", body };
}

async function enter(visit: Visit): Promise<Leads> {
  const { services: { adminLogin }, context, form } = visit;
  const elsewhere = visit.loginElsewhere(nextOf(visit));
  if (elsewhere !== null) return { to: elsewhere };
  if (adminLogin === null) {
    throw new NotFound("Nobody can log in: admins.enabled is false in the configuration");
  }
  const { address, requestId } = context.var;
  const browser = await adminLogin.recognize(visit.browserMark);
  adminLogin.admit({ address, browser });
  const { username, password } = Object.fromEntries(form);
  const request = visit.parse(loginSchema, { username, password });
  try {
    const from = { address, requestId, browser };
    const session = await adminLogin.logIn(request, from, visit.session);
    const { id } = session.principal;
    const mark = id === null ? null : await adminLogin.remember(id, browser);
    if (mark !== null) visit.keepBrowserMark(mark);
    visit.keepSession(session);
  } catch (error) {
    // A wrong password shows the form again; a missing session would lead to the login.
    throw error instanceof Unauthorized ? new Forbidden(error.message) : error;
  }
  return { to: nextOf(visit) };
}

async function leave(visit: Visit): Promise<Leads> {
  if (visit.session !== null) await visit.services.webSessions.close(visit.caller);
  visit.keepSession(null);
  return { to: "/login" };
}
