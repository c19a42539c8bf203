import { VISIBILITIES } from "../../parts/choices.tsx";
import { type Project, viewOf } from "../../../services/work/projects/mod.ts";
import { changeProject, deleteProject } from "../../../services/work/projects/admin_operations.ts";
import { ConfirmForm, requireTypedName } from "../../parts/confirm.tsx";
import { ButtonForm, Form, knownNames, Select, TextArea, TextField } from "../../parts/form.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

/** Name, visibility, channel and the project's own limits; archive and remove. */
export const general = definePart({
  words: "General",
  isForServer: true,
  show,
  actions: {
    "save-general": save,
    archive: async (visit, { slug }) => {
      await visit.invokeOnServer(changeProject, { slug, archived: true });
      return "The project is archived: it can be read, and not changed.";
    },
    unarchive: async (visit, { slug }) => {
      await visit.invokeOnServer(changeProject, { slug, archived: false });
      return "The project can be changed again.";
    },
    "remove-project": remove,
  },
});

function show(visit: Visit, { access: { held, project } }: OpenProject) {
  const { name, description, visibility, channel } = viewOf(held);
  return (
    <>
      <h2>General</h2>
      <Form visit={visit} action="save-general">
        <TextField visit={visit} name="name" label="Name" required maxlength={200} value={name} />
        <TextArea
          visit={visit}
          name="description"
          label="Description"
          rows={3}
          value={description}
        />
        <Select
          visit={visit}
          name="visibility"
          label="Visibility"
          options={VISIBILITIES}
          value={visibility}
        />
        <TextField
          visit={visit}
          name="channel"
          label="IRC channel of its events"
          names={knownNames.channels(visit)}
          hint="What happens in the project is said there. Empty: nowhere."
          value={channel}
        />
        <Limits visit={visit} settings={project.settings} />
        <button class="primary" type="submit">Save</button>
      </Form>
      <Ending visit={visit} project={project} />
    </>
  );
}

function Limits({ visit, settings }: {
  readonly visit: Visit;
  readonly settings: Project["settings"];
}) {
  const { projects } = visit.services.config;
  const number = (name: string, label: string, value: number | null, hint: string) => (
    <TextField
      visit={visit}
      name={name}
      label={label}
      type="number"
      value={value === null ? "" : String(value)}
      hint={hint}
    />
  );
  return (
    <>
      <h3>Limits</h3>
      <p class="soft small">Where a field is empty, the server's setting holds.</p>
      <div class="field-grid">
        {number(
          "claim_seconds",
          "Claims end after (seconds)",
          settings.claim_seconds,
          "Counted from the holder's last work on the ticket or in its workspace. Then others can " +
            `claim it. The server has ${projects.claim_seconds}.`,
        )}
        {number(
          "strikes",
          "Failed claims of a ticket",
          settings.strikes,
          "After so many claims without a result, agents cannot claim a ticket until a person " +
            `offers it again. The server has ${projects.strikes}.`,
        )}
        {number(
          "depth",
          "Landings tested at once",
          settings.landing.depth,
          "CI tests so many reviews of the landing queue at the same time, each on top of those " +
            `before it. The server has ${projects.landing.depth}.`,
        )}
        {number(
          "timeout_seconds",
          "Time for checks (seconds)",
          settings.landing.timeout_seconds,
          "A landing whose checks have not all passed by then leaves the queue. The server has " +
            `${projects.landing.timeout_seconds}.`,
        )}
      </div>
    </>
  );
}

function Ending({ visit, project: { slug, archivedAt } }: {
  readonly visit: Visit;
  readonly project: Project;
}) {
  return (
    <section class="danger-zone" aria-labelledby="end">
      <h2 id="end">Archive and remove</h2>
      <div class="row">
        {archivedAt === null
          ? <ButtonForm visit={visit} action="archive" label="Archive it" />
          : <ButtonForm visit={visit} action="unarchive" label="Allow changes again" />}
      </div>
      <ConfirmForm
        visit={visit}
        action="remove-project"
        label="Remove the project …"
        button="Remove it"
        name={slug}
      >
        <p>
          Its tickets, reviews and tokens are gone for everybody. The repository is moved aside on
          the server, not erased.
        </p>
      </ConfirmForm>
    </section>
  );
}

async function save(visit: Visit, { slug }: OpenProject): Promise<string> {
  const number = (name: string) => {
    const text = visit.entered(name).trim();
    return text === "" ? null : Number(text);
  };
  await visit.invokeOnServer(changeProject, {
    slug,
    name: visit.entered("name"),
    description: visit.entered("description").replaceAll("\r\n", "\n"),
    visibility: visit.entered("visibility"),
    channel: visit.entered("channel").trim(),
    claim_seconds: number("claim_seconds"),
    strikes: number("strikes"),
    landing: { depth: number("depth"), timeout_seconds: number("timeout_seconds") },
  });
  return "The settings are saved.";
}

async function remove(visit: Visit, { slug }: OpenProject) {
  requireTypedName(visit, slug);
  await visit.invokeOnServer(deleteProject, { slug });
  return { to: "/projects" };
}
