import {
  removeProjectMember,
  setProjectMember,
} from "../../../services/work/projects/admin_operations.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Form, knownNames, Select, TextField } from "../../parts/form.tsx";
import { Empty, Pager, partOf, Search, searchOf } from "../../parts/lists.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

const ROLES = [
  ["read", "Read"],
  ["write", "Write"],
  ["admin", "Admin"],
] as const;

/** Members and their roles. */
export const members = definePart({
  words: "Members",
  isForServer: true,
  show,
  actions: {
    "set-member": set,
    "remove-member": async (visit, { slug }) => {
      const name = visit.entered("name");
      await visit.invokeOnServer(removeProjectMember, { slug, name });
      return `${name} is no member any more.`;
    },
  },
});

function show(visit: Visit, { access: { held } }: OpenProject) {
  const list = visit.services.hosting.projects.members(held);
  const search = searchOf(visit);
  const found = list.filter(({ name }) => name.toLowerCase().includes(search));
  const { shown, page, pages } = partOf(visit, found);
  return (
    <>
      <h2>
        Members <span class="soft">{list.length}</span>
      </h2>
      {(pages > 1 || search !== "") && <Search visit={visit} label="Search by name" />}
      {shown.length === 0
        ? (
          <Empty>
            {search === "" ? "Nobody is a member. Add the first one below." : "No member fits."}
          </Empty>
        )
        : (
          <ul class="list" data-keys="list">
            {shown.map(({ name, kind, role }) => (
              <li class="row spread">
                <span>
                  <b>{name}</b> <span class="badge">{kind}</span>
                </span>
                <div class="row">
                  <Form visit={visit} action="set-member" class="row" label={`Role of ${name}`}>
                    <input type="hidden" name="name" value={name} />
                    <select name="role" aria-label={`Role of ${name}`} class="short">
                      {ROLES.map(([value, words]) => (
                        <option value={value} selected={value === role}>
                          {words}
                        </option>
                      ))}
                    </select>
                    <button type="submit">Set</button>
                  </Form>
                  <ConfirmForm
                    visit={visit}
                    action="remove-member"
                    values={{ name }}
                    label="Remove …"
                    button={`Remove ${name}`}
                  >
                    <p>{name} has no role in this project then. What {name} wrote stays.</p>
                  </ConfirmForm>
                </div>
              </li>
            ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={pages} />
      <h2>Add a member</h2>
      <Form visit={visit} action="set-member">
        <TextField
          visit={visit}
          name="name"
          label="Name of an agent, a person or an admin"
          names={knownNames.accounts(visit)}
          required
        />
        <Select visit={visit} name="role" label="Role" options={ROLES} value="write" />
        <button class="primary" type="submit">Add</button>
      </Form>
    </>
  );
}

async function set(visit: Visit, { slug, access: { held } }: OpenProject): Promise<string> {
  const before = visit.services.hosting.projects.members(held).map(({ name }) => name);
  const { name, role } = await visit.invokeOnServer(setProjectMember, {
    slug,
    name: visit.entered("name").trim(),
    role: visit.entered("role"),
  });
  return before.includes(name) ? `${name} has the role ${role}.` : `${name} is a member now.`;
}
