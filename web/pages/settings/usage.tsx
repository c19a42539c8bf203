import type {
  BudgetView,
  Usage,
  UsageGroup,
  UsageSums,
} from "../../../services/models/ledger/mod.ts";
import { dollars } from "../../../services/kernel/words.ts";
import * as api from "../../../services/models/ledger/operations.ts";
import { USAGE_GROUPS } from "../../../services/models/ledger/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ButtonForm, Form, TextField } from "../../parts/form.tsx";
import { Empty, Pager, partOf } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import type { Visit } from "../../visit.ts";

const MICRO = 1_000_000;

/** Rows of the table. The API gives more. */
const SHOWN = 100;

/** What calls of language models took, and the budgets that limit them. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { setBudget, removeBudget },
  json: () => "/v1/llm/usage",
});

async function show(visit: Visit): Promise<View> {
  const asked = visit.query("by");
  const by = USAGE_GROUPS.find((group) => group === asked) ?? "agent";
  const from = visit.query("from") || undefined;
  const to = visit.query("to") || undefined;
  const [read, budgets] = await Promise.all([
    visit.invokeOnServer(api.getModelUsage, { by, from, to }),
    visit.invokeOnServer(api.listModelBudgets, {}),
  ]);
  const { shown, page, pages } = partOf(visit, budgets, "budgets");
  const body = (
    <SettingsFrame part="usage">
      <div class="columns">
        <section aria-labelledby="calls">
          <h2 id="calls">Calls from {read.from} to {read.to}</h2>
          <Filter by={by} usage={read} />
          {read.total.calls === 0
            ? <Empty>No model was called in these days.</Empty>
            : <UsageTable usage={read} />}
        </section>
        <section aria-labelledby="budgets">
          <h2 id="budgets">Budgets</h2>
          <p class="soft small">
            A budget warns first; once it is used up, calls are refused until its day or month is
            over (UTC).
          </p>
          {shown.length > 0 && (
            <ul class="list">
              {shown.map((budget) => <BudgetEntry visit={visit} budget={budget} />)}
            </ul>
          )}
          <Pager visit={visit} page={page} pages={pages} parameter="budgets" />
          <BudgetForm visit={visit} />
        </section>
      </div>
    </SettingsFrame>
  );
  return { title: "Use of models", body };
}

function Filter({ by, usage }: { readonly by: UsageGroup; readonly usage: Usage }) {
  return (
    <form method="get" class="row filters labeled" aria-label="What is added up">
      <label>
        <span>By</span>
        <select name="by">
          {USAGE_GROUPS.map((group) => (
            <option value={group} selected={group === by}>{group}</option>
          ))}
        </select>
      </label>
      <label>
        <span>From</span> <input type="date" name="from" value={usage.from} />
      </label>
      <label>
        <span>To</span> <input type="date" name="to" value={usage.to} />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

function UsageTable({ usage: { by, groups, left_out: left, total } }: { readonly usage: Usage }) {
  const more = left + Math.max(groups.length - SHOWN, 0);
  return (
    <>
      <div class="table-scroll" tabindex={0} role="region" aria-label="Table of calls">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">{by[0]?.toUpperCase()}{by.slice(1)}</th>
              {FIGURES.map((words) => <th scope="col" class="number">{words}</th>)}
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, SHOWN).map((sums) => (
              <UsageRow name={sums.name || "none"} sums={sums} />
            ))}
          </tbody>
          <tfoot>
            <UsageRow name="All" sums={total} />
          </tfoot>
        </table>
      </div>
      {more > 0 && <p class="soft small">… and {more} more, which count in the sum.</p>}
      {total.unpriced_calls > 0 && (
        <p class="soft small">
          The cost of {total.unpriced_calls}{" "}
          of the calls is not known: there is no price of the model, or the provider reported no
          tokens.
        </p>
      )}
    </>
  );
}

/** The columns of figures. */
const FIGURES = ["Calls", "Failed", "Tokens in", "Tokens out", "US dollars"] as const;

function UsageRow({ name, sums }: { readonly name: string; readonly sums: UsageSums }) {
  const { calls, failed, input_tokens: input, output_tokens: output } = sums;
  const isUnknown = calls > 0 && sums.unpriced_calls === calls;
  const counts = [calls, failed, input, output].map((count) => count.toLocaleString("en"));
  const figures = [...counts, isUnknown ? "?" : dollars(sums.cost_micro_usd)];
  return (
    <tr>
      <th scope="row" dir="auto">{name}</th>
      {figures.map((figure, index) => <td data-label={FIGURES[index]} class="number">{figure}</td>)}
    </tr>
  );
}

function BudgetEntry({ visit, budget }: { readonly visit: Visit; readonly budget: BudgetView }) {
  const { max_cost_micro_usd: cost, max_tokens: tokens, spent_tokens, spent_micro_usd } = budget;
  const parts = [
    ...cost === null ? [] : [`${dollars(spent_micro_usd)} of ${dollars(cost)} US dollars`],
    ...tokens === null
      ? []
      : [`${spent_tokens.toLocaleString("en")} of ${tokens.toLocaleString("en")} tokens`],
  ];
  return (
    <li class="token">
      <div>
        <code>{budget.budget}</code>{" "}
        {budget.state !== "open" && (
          <span class={`badge ${budget.state === "exceeded" ? "bad" : "warn"}`}>
            {budget.state === "exceeded" ? "used up" : "warned"}
          </span>
        )}
        <div class="soft small">
          {parts.join(", ")}; warns at {budget.warn_percent} %
        </div>
      </div>
      <ButtonForm
        visit={visit}
        action="removeBudget"
        values={{ budget: budget.budget }}
        label={`Remove ${budget.budget}`}
      />
    </li>
  );
}

function BudgetForm({ visit }: { readonly visit: Visit }) {
  return (
    <>
      <h3>Set a budget</h3>
      <Form visit={visit} action="setBudget">
        <TextField
          visit={visit}
          name="budget"
          label="Whose, and for how long"
          required
          maxlength={200}
          hint="all, type.worker, agent.scout or project.demo, with .day or .month at its end"
        />
        <TextField
          visit={visit}
          name="cost"
          label="US dollars"
          pattern="\d{1,9}(\.\d{1,6})?"
          hint="Such as 5 or 0.25; empty: no limit"
        />
        <TextField
          visit={visit}
          name="max_tokens"
          label="Tokens"
          pattern="\d{1,15}"
          hint="Of input and output; empty: no limit"
        />
        <TextField visit={visit} name="warn_percent" label="Warns at percent" value="80" />
        <button type="submit" class="primary">Set the budget</button>
      </Form>
    </>
  );
}

async function setBudget(visit: Visit): Promise<Leads> {
  const name = visit.entered("budget").trim();
  const cost = numberIn(visit, "cost");
  const limits = {
    max_cost_micro_usd: typeof cost === "number" ? Math.round(cost * MICRO) : cost,
    max_tokens: numberIn(visit, "max_tokens"),
    warn_percent: numberIn(visit, "warn_percent") ?? undefined,
  };
  await visit.invokeOnServer(api.setModelBudget, { budget: name, limits });
  return { to: "/settings/usage", notice: `The budget ${name} is set.` };
}

async function removeBudget(visit: Visit): Promise<Leads> {
  const name = visit.entered("budget");
  await visit.invokeOnServer(api.deleteModelBudget, { budget: name });
  return { to: "/settings/usage", notice: `The budget ${name} is removed.` };
}

/** The number in a field, null if it is empty; what is no number stays text, which is refused. */
function numberIn(visit: Visit, field: string): number | string | null {
  const text = visit.entered(field).trim();
  if (text === "") return null;
  return Number.isNaN(Number(text)) ? text : Number(text);
}
