import { OctagonPause } from "lucide-static";
import type { Visit } from "../visit.ts";
import { ConfirmForm } from "./confirm.tsx";
import { ButtonForm, TextField } from "./form.tsx";
import { Icon } from "./icon.tsx";

/** The longest address to which the buttons lead back, in characters. */
const LONGEST = 1000;

/** The stop button of every page, for admins; while all agents are halted, the way back. */
export function HaltButton({ visit }: { readonly visit: Visit }) {
  const { halts } = visit.services.agents;
  const here = visit.url.pathname + visit.url.search;
  // What is longer is no address of a page.
  const values: Readonly<Record<string, string>> = here.length > LONGEST ? {} : { next: here };
  if (halts.coversEverybody) {
    return (
      <ButtonForm visit={visit} action="resume" to="/halt" values={values} label="Resume agents" />
    );
  }
  return (
    <ConfirmForm
      visit={visit}
      action="halt"
      to="/halt"
      values={values}
      label="Halt agents …"
      button="Halt all agents"
    >
      <p>
        <Icon svg={OctagonPause} />{" "}
        Agents may then read, but not say or change anything, until they are resumed. People go on.
        {" "}
        <a href="/halt">Halt some agents alone</a>
      </p>
      <TextField
        visit={visit}
        name="halt_reason"
        label="Reason, which everybody gets"
        maxlength={200}
      />
    </ConfirmForm>
  );
}

/** Says on every page that agents are halted; people who are no admins see it too. */
export function HaltNotice({ visit }: { readonly visit: Visit }) {
  const { halts } = visit.services.agents;
  if (visit.session === null || !halts.isAny) return null;
  const { halted, reason, by, agents_halted: count } = halts.read();
  if (!halted && count === 0) return null;
  const number = count === 1 ? "1 agent is" : `${count} agents are`;
  return (
    <div class="notice bad" role="status">
      <p>
        {halted ? `All agents are halted by ${by}` : `${number} halted`}
        {halted && reason !== null ? `: ${reason}` : ""}
        {". "}
        {visit.isAdmin && visit.url.pathname !== "/halt" && <a href="/halt">See who</a>}
      </p>
    </div>
  );
}
