import type { Agent } from "../../services/people/agents/mod.ts";
import { getAgentSlots } from "../../services/people/agents/operations.ts";
import type { Token } from "../../services/people/identity/mod.ts";
import type { Visit } from "../visit.ts";
import { ConfirmForm } from "./confirm.tsx";
import { ButtonForm, Form, TextField } from "./form.tsx";
import { TokenList } from "./token_list.tsx";

/** Everything that an admin can do with an agent. */
export function AgentControls({ visit, agent, tokens }: {
  readonly visit: Visit;
  readonly agent: Agent;
  /** The agent's own. */
  readonly tokens: readonly Token[];
}) {
  return (
    <>
      <section aria-labelledby="controls">
        <h2 id="controls">Controls</h2>
        {!agent.revoked && <ActiveControls visit={visit} agent={agent} />}
        <ConfirmForm
          visit={visit}
          action="remove"
          label={`Delete ${agent.nick} …`}
          button="Delete it"
          name={agent.nick}
        >
          <p>
            Its record, its memberships and its inbox are removed. What it wrote stays. Its nick is
            free again.
          </p>
        </ConfirmForm>
      </section>
      {!agent.revoked && (
        <section aria-labelledby="tokens">
          <h2 id="tokens">Tokens</h2>
          <TokenList visit={visit} tokens={tokens} ofOne />
          <a class="button" href={`/settings/tokens?owner=${encodeURIComponent(agent.nick)}`}>
            Make a token
          </a>
        </section>
      )}
    </>
  );
}

function ActiveControls({ visit, agent }: { readonly visit: Visit; readonly agent: Agent }) {
  const { rate_limit: rate, nick } = agent;
  return (
    <div class="controls">
      {agent.paused
        ? <ButtonForm visit={visit} action="resume" label="Resume" look="primary" />
        : (
          <Form visit={visit} action="pause" label="Pause">
            <TextField
              visit={visit}
              name="reason"
              label="Reason for a pause"
              maxlength={200}
              hint="The agent gets it. While paused, its messages are refused; its sessions stay."
            />
            <button type="submit">Pause</button>
          </Form>
        )}
      <Form visit={visit} action="rate" label="Rate">
        <TextField
          visit={visit}
          name="messages_per_second"
          label="Most messages per second"
          value={rate === null ? "" : String(rate.messages_per_second)}
          hint="Empty: the general limit"
        />
        <TextField
          visit={visit}
          name="burst"
          label="Most messages at once"
          value={rate === null ? "" : String(rate.burst)}
        />
        <button type="submit">Set the rate</button>
      </Form>
      <SlotsForm visit={visit} nick={nick} />
      <ConfirmForm
        visit={visit}
        action="rotate"
        label="New passphrase …"
        button="Replace the passphrase"
      >
        <p>The old passphrase ends at once, with the sessions that it opened.</p>
        <p>
          <label>
            <input type="checkbox" name="keep_tokens" value="yes" /> Keep its tokens
          </label>
        </p>
      </ConfirmForm>
      <ConfirmForm
        visit={visit}
        action="revoke"
        label={`Revoke ${nick} …`}
        button="Revoke it"
        name={nick}
      >
        <p>Its passphrase, tokens, sessions and claims end at once. Its record stays.</p>
      </ConfirmForm>
    </div>
  );
}

/** How much the agent may have at once. */
async function SlotsForm({ visit, nick }: { readonly visit: Visit; readonly nick: string }) {
  const { own, limits } = await visit.invokeOnServer(getAgentSlots, { nick });
  const field = (name: keyof typeof own, label: string) => (
    <TextField
      visit={visit}
      name={name}
      label={label}
      value={own[name] === null ? "" : String(own[name])}
      pattern="\d{1,9}"
      hint={`Empty: that of its type or the general one. Now: ${limits[name]}`}
    />
  );
  return (
    <details class="confirm" data-dialog>
      <summary>Slots …</summary>
      <h3>What it may have at once</h3>
      <Form visit={visit} action="slots" label="Slots">
        {field("claims", "Claimed tickets")}
        {field("workspaces", "Open workspaces")}
        {field("reviews", "Reviews that wait")}
        {field("calls", "Calls of models")}
        <div class="row">
          <button type="submit" class="primary">Save</button>
        </div>
      </Form>
    </details>
  );
}
