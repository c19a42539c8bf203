import { getProtection, setProtection } from "../../../services/work/protection/operations.ts";
import type { Rule } from "../../../services/work/protection/schemas.ts";
import { Field, Form } from "../../parts/form.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

const CHOICES = {
  push: [["write", "Writers"], ["admin", "Admins"], ["nobody", "Nobody"]],
  merge: [["write", "Writers"], ["admin", "Admins"]],
  landing: [["optional", "Optional"], ["required", "Required"]],
} as const;

const HINTS: Readonly<Record<keyof typeof CHOICES, string>> = {
  push: "Straight to the branch, without a review",
  merge: "A workspace or a review into the branch",
  landing: "Required: only the landing queue merges, once the checks of the result have passed",
};

const NEW_RULE: Rule = {
  pattern: "",
  contexts: [],
  approvals: { any: 0, people: 0 },
  push: "write",
  merge: "write",
  landing: "optional",
};

/** The rules of protected branches. */
export const protection = definePart({
  words: "Branch protection",
  isForServer: false,
  show,
  actions: { "save-rules": save },
});

async function show(visit: Visit, { slug }: OpenProject) {
  const rules = await visit.invoke(slug, getProtection, {});
  const count = visit.form.has("rules") ? rulesIn(visit).length : rules.length + 1;
  return (
    <>
      <h2>Branch protection</h2>
      <p class="soft">
        A rule applies to the branches that match its pattern. If several match, the strictest
        demand of each kind applies.
      </p>
      <Form visit={visit} action="save-rules" class="wide">
        <input type="hidden" name="rules" value={String(count)} />
        {Array.from(
          { length: count },
          (_, index) => (
            <RuleFields key={index} visit={visit} index={index} rule={rules[index] ?? NEW_RULE} />
          ),
        )}
        <button class="primary" type="submit">Save all rules</button>
      </Form>
    </>
  );
}

function RuleFields({ visit, index, rule }: {
  readonly visit: Visit;
  readonly index: number;
  readonly rule: Rule;
}) {
  const isNew = rule.pattern === "";
  return (
    <fieldset class="card">
      <legend>{isNew ? "New rule" : rule.pattern}</legend>
      <div class="field-grid">
        <RuleText
          visit={visit}
          name={`pattern-${index}`}
          label="Pattern of branches"
          hint={isNew ? "* matches any characters" : "Empty it to remove the rule"}
          value={rule.pattern}
        />
        <RuleText
          visit={visit}
          name={`contexts-${index}`}
          label="Checks that must pass"
          hint={'The names under which CI reports them, such as "ci/build, ci/lint". To trust more ' +
            'reporters than project tokens, name them: "ci/build; ci/test | scout"'}
          value={contextsText(rule.contexts)}
        />
        <RuleText
          visit={visit}
          name={`any-${index}`}
          label="Approvals by anybody"
          hint="That a review needs, by agents and people together"
          type="number"
          value={String(rule.approvals.any)}
        />
        <RuleText
          visit={visit}
          name={`people-${index}`}
          label="Approvals by people"
          hint="An agent cannot give these"
          type="number"
          value={String(rule.approvals.people)}
        />
        <RuleChoice visit={visit} name="push" label="Who may push" index={index} rule={rule} />
        <RuleChoice visit={visit} name="merge" label="Who may merge" index={index} rule={rule} />
        <RuleChoice visit={visit} name="landing" label="Landing" index={index} rule={rule} />
      </div>
    </fieldset>
  );
}

function RuleText({ visit, name, label, hint, value, type = "text" }: {
  readonly visit: Visit;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly type?: string;
}) {
  return (
    <Field id={name} label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        id={name}
        name={name}
        type={type}
        min={type === "number" ? "0" : undefined}
        autocomplete="off"
        aria-describedby={hint === undefined ? undefined : `${name}-hint`}
        value={visit.entered(name, value)}
      />
    </Field>
  );
}

function RuleChoice({ visit, name, label, index, rule }: {
  readonly visit: Visit;
  readonly name: keyof typeof CHOICES;
  readonly label: string;
  readonly index: number;
  readonly rule: Rule;
}) {
  const id = `${name}-${index}`;
  const chosen = visit.entered(id, rule[name]);
  return (
    <Field id={id} label={label} hint={HINTS[name]}>
      <select id={id} name={id} aria-describedby={`${id}-hint`}>
        {CHOICES[name].map(([value, words]) => (
          <option value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** Required checks as the form shows them: "ci/build, ci/lint; ci/test | scout, token:ci". */
function contextsText(contexts: Rule["contexts"]): string {
  const groups = Map.groupBy(
    contexts.map((one) => typeof one === "string" ? { context: one, reporters: [] } : one),
    ({ reporters }) => reporters.join(", "),
  );
  return Array.from(groups, ([reporters, same]) => {
    const names = same.map(({ context }) => context).join(", ");
    return reporters === "" ? names : `${names} | ${reporters}`;
  }).join("; ");
}

function contextsIn(text: string): Rule["contexts"] {
  return text.split(";").flatMap((group) => {
    const [names = [], reporters = []] = group.split("|").map((part) =>
      part.split(",").map((name) => name.trim()).filter((name) => name !== "")
    );
    return names.map((context) => reporters.length === 0 ? context : { context, reporters });
  });
}

/** Most rules that the form is read for. */
const MAX_RULES = 101;

/** The rules of the form; those without a pattern are left out when they are saved. */
function rulesIn(visit: Visit) {
  const count = Math.min(MAX_RULES, Math.max(0, Number(visit.entered("rules")) || 0));
  return Array.from({ length: count }, (_, index) => ({
    pattern: visit.entered(`pattern-${index}`).trim(),
    contexts: contextsIn(visit.entered(`contexts-${index}`)),
    approvals: {
      any: Number(visit.entered(`any-${index}`, "0")),
      people: Number(visit.entered(`people-${index}`, "0")),
    },
    push: visit.entered(`push-${index}`),
    merge: visit.entered(`merge-${index}`),
    landing: visit.entered(`landing-${index}`),
  }));
}

async function save(visit: Visit, { slug }: OpenProject): Promise<string> {
  const rules = rulesIn(visit).filter(({ pattern }) => pattern !== "");
  await visit.invoke(slug, setProtection, { rules });
  return "The rules are saved.";
}
