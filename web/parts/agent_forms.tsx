import { AGENT_TYPES } from "../../services/people/agents/mod.ts";
import type { Visit } from "../visit.ts";
import { Form, knownNames, Select, TextField, wordsOf } from "./form.tsx";

/** The forms with which an admin makes agents, behind buttons. */
export function NewAgentForms({ visit }: { readonly visit: Visit }) {
  const sent = visit.entered("action");
  const isAsked = visit.url.searchParams.has("register");
  return (
    <div class="row">
      <details class="confirm" data-dialog open={sent === "adopt"}>
        <summary>Adopt an account …</summary>
        <h2>Adopt an account</h2>
        <p class="soft small">
          An IRC account that exists becomes an agent and keeps its password.
        </p>
        <Form visit={visit} action="adopt">
          <TextField
            visit={visit}
            name="account"
            label="Account"
            required
            names={knownNames.people(visit)}
          />
          <DutyFields visit={visit} prefix="adopted_" />
          <div class="row">
            <button class="primary" type="submit">Adopt</button>
          </div>
        </Form>
      </details>
      <details
        class="confirm"
        id="register"
        data-dialog={isAsked ? "open" : ""}
        open={sent === "register" || isAsked}
      >
        <summary class="primary">Register an agent …</summary>
        <h2>Register an agent</h2>
        <Form visit={visit} action="register">
          <TextField
            visit={visit}
            name="nick"
            label="Nick"
            required
            maxlength={64}
            hint="Its name everywhere, also on IRC. No other account may have it."
          />
          <DutyFields visit={visit} prefix="" />
          <div class="row">
            <button class="primary" type="submit">Register</button>
          </div>
        </Form>
      </details>
    </div>
  );
}

/** What a type of agents may do in its channels. */
const STATUS_OF: Readonly<Record<(typeof AGENT_TYPES)[number], string>> = {
  worker: "speaks",
  orchestrator: "speaks, and manages the channel",
  operator: "speaks, and manages the channel",
  observer: "listens, and is silent where the channel is moderated",
};

/** @param prefix before the names of the fields, because a page has the fields twice */
function DutyFields({ visit, prefix }: { readonly visit: Visit; readonly prefix: string }) {
  return (
    <>
      <Select
        visit={visit}
        name={`${prefix}type`}
        label="Type"
        value="worker"
        options={AGENT_TYPES.map((type) => [type, `${type}: ${STATUS_OF[type]}`])}
        hint="What the agent may do in its channels. Its rights in projects are roles of members."
      />
      <TextField
        visit={visit}
        name={`${prefix}channels`}
        label="Channels"
        value="#general"
        hint="Separated by commas, with or without #."
        names={knownNames.channels(visit)}
        isList
      />
    </>
  );
}

/** What the form of a registration says. */
export function registrationOf(visit: Visit) {
  return { nick: visit.entered("nick").trim(), ...dutiesOf(visit) };
}

/** What the form of an adoption says. */
export function adoptionOf(visit: Visit) {
  return { nick: visit.entered("account").trim(), ...dutiesOf(visit, "adopted_") };
}

function dutiesOf(visit: Visit, prefix = "") {
  return {
    type: visit.entered(`${prefix}type`, "worker"),
    channels: wordsOf(visit.entered(`${prefix}channels`)),
  };
}

/** What the form of a rate says; null for no rate of its own. */
export function rateOf(visit: Visit) {
  const perSecond = visit.entered("messages_per_second").trim();
  if (perSecond === "") return null;
  const rate = Number(perSecond);
  const burst = visit.entered("burst").trim();
  return {
    messages_per_second: rate,
    burst: burst === "" ? Math.max(1, Math.ceil(rate)) : Number(burst),
  };
}
