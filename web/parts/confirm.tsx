import type { Child } from "hono/jsx";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Visit } from "../visit.ts";
import { Field, Form } from "./form.tsx";

/** A dangerous form behind a button. A script shows it as a dialog; without one it folds out. */
export function ConfirmForm(
  { visit, action, to, values = {}, label, button, look = "danger", name, children }: {
    readonly visit: Visit;
    readonly action: string;
    readonly to?: string;
    readonly values?: Readonly<Record<string, string>>;
    /** The button that leads to the form, such as "Delete scout …". */
    readonly label: string;
    /** The button that sends the form. */
    readonly button: string;
    /** `danger` by default; "" for a form that does no harm. */
    readonly look?: "danger" | "";
    /** The person types this name to confirm; see {@link requireTypedName}. */
    readonly name?: string;
    /** What happens then, and more fields. */
    readonly children: Child;
  },
) {
  const id = `confirm-${action}-${Object.values(values).join("-").replace(/[^\w-]/g, "_")}`;
  return (
    <details class="confirm" data-dialog>
      <summary class={look}>{label}</summary>
      <Form visit={visit} action={action} {...(to === undefined ? {} : { to })}>
        {Object.entries(values).map(([field, value]) => (
          <input type="hidden" name={field} value={value} />
        ))}
        {children}
        {name !== undefined && (
          <Field
            id={id}
            label={
              <>
                Type <code>{name}</code> to confirm
              </>
            }
          >
            <input id={id} name="confirm" required autocomplete="off" />
          </Field>
        )}
        <div class="row">
          <button type="submit" class={look}>{button}</button>
        </div>
      </Form>
    </details>
  );
}

/**
 * Checks what the person typed into a {@link ConfirmForm}.
 *
 * @throws Invalid
 */
export function requireTypedName(visit: Visit, name: string): void {
  if (visit.entered("confirm").trim() === name) return;
  throw new Invalid(`Nothing was changed: type "${name}" to confirm`);
}
