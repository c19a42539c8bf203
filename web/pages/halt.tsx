import { getHalt, haltAgents, resumeAgents } from "../../services/people/agents/halt_operations.ts";
import { AGENT_TYPES } from "../../services/people/agents/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { definePage, type Leads, type View } from "../page.ts";
import {
  ButtonForm,
  Form,
  knownNames,
  nextOf,
  Select,
  TextField,
  wordsOf,
} from "../parts/form.tsx";
import { Pager, partOf } from "../parts/lists.tsx";
import { Time } from "../parts/time.tsx";
import type { Visit } from "../visit.ts";

/** Who is halted, and the way to halt and resume types and agents. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { halt, resume, exempt },
  json: () => "/v1/halt",
});

async function show(visit: Visit): Promise<View> {
  const state = await visit.invokeOnServer(getHalt, {});
  const rules = [
    ...state.types.map(({ type, ...rule }) => (
      { ...rule, name: `all of the type ${type}`, field: "type", value: type }
    )),
    ...state.agents.map(({ nick, ...rule }) => (
      { ...rule, name: nick, field: "agent", value: nick }
    )),
  ];
  const { shown, page, pages } = partOf(visit, rules);
  const body = (
    <>
      <h1>Halt</h1>
      <p>
        {state.halted ? "All agents are halted" : "No agent is halted"}
        {rules.length === 0 ? "." : ", except for those in the list."} {state.since !== null && (
          <>
            By {state.by}, <Time at={state.since} />.
          </>
        )}
        {state.reason !== null && ` Reason: ${state.reason}`}
      </p>
      {(state.halted || rules.length > 0) && (
        <div class="row">
          <ButtonForm visit={visit} action="resume" label="Resume all agents" look="primary" />
        </div>
      )}
      {rules.length > 0 && (
        <ul class="list" data-keys="list">
          {shown.map(({ name, field, value, halted, reason, by, since }) => (
            <li class="token">
              <div>
                {name}: {halted ? "halted" : "goes on"}
                {reason !== null && `: ${reason}`}
                <div class="soft small">
                  by {by}, <Time at={since} />
                </div>
              </div>
              <ButtonForm
                visit={visit}
                action={halted ? "resume" : "halt"}
                values={{ [field]: value }}
                label={halted ? "Resume" : "Halt"}
              />
            </li>
          ))}
        </ul>
      )}
      <Pager visit={visit} page={page} pages={pages} />
      <div class="halt-forms">
        <section class="card" aria-labelledby="halt-some">
          <h2 id="halt-some">Halt some agents</h2>
          <Form visit={visit} action="halt" label="Halt some agents">
            <Select
              visit={visit}
              name="type"
              label="All of a type"
              options={[["", "none"], ...AGENT_TYPES.map((type) => [type, type] as const)]}
            />
            <TextField
              visit={visit}
              name="agent"
              label="Agents"
              hint="Nicks, separated by commas."
              names={knownNames.agents(visit)}
              isList
            />
            <TextField visit={visit} name="reason" label="Reason" maxlength={200} />
            <button type="submit" class="danger">Halt them</button>
          </Form>
        </section>
        <section class="card" aria-labelledby="resume-some">
          <h2 id="resume-some">Resume some agents</h2>
          <Form visit={visit} action="exempt" label="Resume some agents">
            <TextField
              visit={visit}
              name="resumed"
              label="Agents"
              hint="Nicks, separated by commas. They go on while the others stay halted."
              names={knownNames.agents(visit)}
              isList
            />
            <button type="submit">Resume them</button>
          </Form>
        </section>
      </div>
    </>
  );
  return { title: "Halt", body };
}

async function halt(visit: Visit): Promise<Leads> {
  // The button of every page has a field of its own: beside it, a page may have a field "reason".
  const reason = (visit.entered("halt_reason") || visit.entered("reason")).trim();
  await visit.invokeOnServer(haltAgents, {
    agents: wordsOf(visit.entered("agent")),
    types: wordsOf(visit.entered("type")),
    reason: reason === "" ? null : reason,
  });
  return { to: nextOf(visit, "/halt"), notice: "Halted" };
}

async function resume(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(resumeAgents, {
    agents: listOf(visit.entered("agent")),
    types: listOf(visit.entered("type")),
  });
  return { to: nextOf(visit, "/halt"), notice: "Resumed" };
}

async function exempt(visit: Visit): Promise<Leads> {
  const agents = listOf(visit.entered("resumed"));
  if (agents === undefined) throw new Invalid("Name at least one agent");
  await visit.invokeOnServer(resumeAgents, { agents });
  return { to: "/halt", notice: "Resumed" };
}

/** Names with commas between them; undefined if there are none. */
function listOf(text: string): string | undefined {
  return wordsOf(text).join(",") || undefined;
}
