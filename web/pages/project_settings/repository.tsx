import { NotFound } from "../../../services/kernel/errors.ts";
import type { ImportView } from "../../../services/work/imports/mod.ts";
import {
  cancelProjectImport,
  getProjectImport,
  startProjectImport,
} from "../../../services/work/imports/server_operations.ts";
import { Copyable } from "../../parts/copy.tsx";
import { ButtonForm, Form, TextField } from "../../parts/form.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

/** The repository as a whole: import and export. */
export const repository = definePart({
  words: "Import and export",
  isForServer: true,
  show,
  actions: {
    "start-import": async (visit, { slug }) => {
      const field = (name: "url" | "username" | "password") => {
        const value = visit.entered(name).trim();
        return value === "" ? {} : { [name]: value };
      };
      await visit.invokeOnServer(startProjectImport, {
        slug,
        body: { ...field("url"), ...field("username"), ...field("password") },
      });
      return "The import runs.";
    },
    "cancel-import": async (visit, { slug }) => {
      await visit.invokeOnServer(cancelProjectImport, { slug });
      return "The import is cancelled.";
    },
  },
});

/** The import from elsewhere that runs, or the last one; null if there was none. */
async function read(visit: Visit, slug: string): Promise<ImportView | null> {
  try {
    return await visit.invokeOnServer(getProjectImport, { slug });
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

async function show(visit: Visit, { slug, base, access }: OpenProject) {
  const address = `${base}/repository`;
  const isEmpty = await visit.services.hosting.repositories.isEmpty(access.project);
  const imported = await read(visit, slug);
  const isRunning = imported?.state === "running";
  return (
    <>
      <h2>Import</h2>
      <div
        data-live-part="import"
        data-live-on="imported"
        {...isRunning ? { "data-live-running": "" } : {}}
      >
        {imported !== null && <State visit={visit} imported={imported} />}
        {isRunning ? null : isEmpty ? <Import {...{ visit, slug, base, address }} /> : <Filled />}
      </div>
      <h2>Export</h2>
      <div class="row">
        <a class="button" href={`${address}?format=fossil`} download>Fossil repository</a>
        <a class="button" href={`${address}?format=git`} download>Stream for git fast-import</a>
      </div>
    </>
  );
}

/** What stands in place of the form once something is in the repository. */
function Filled() {
  return (
    <p>
      An import fills an empty repository, and this one has something in it already. Make a{" "}
      <a href="/projects/new">new project</a> to import another one.
    </p>
  );
}

const PHASES: Readonly<Record<ImportView["phase"], string>> = {
  asking: "asks the server",
  receiving: "receives bytes:",
  reading: "reads bytes of objects:",
  writing: "writes commits:",
};

function State({ visit, imported }: { readonly visit: Visit; readonly imported: ImportView }) {
  const { url, state, phase, done, total, error, checkins, notices } = imported;
  const isRunning = state === "running";
  return (
    <section class="card">
      <p>
        <span class={`badge ${state === "failed" ? "bad" : isRunning ? "warn" : "good"}`}>
          {state}
        </span>{" "}
        {url}
      </p>
      {isRunning && (
        <>
          <p>
            {PHASES[phase]} {phase === "asking" ? "" : done.toLocaleString("en")}
            {total !== null && ` of ${total.toLocaleString("en")}`}
          </p>
          {total !== null && <progress max={total} value={done} aria-label="Progress"></progress>}
          <ButtonForm visit={visit} action="cancel-import" label="Cancel" />
        </>
      )}
      {state === "done" && <p>{checkins?.toLocaleString("en")} check-ins</p>}
      {error !== null && <pre class="wrapped" tabindex={0}>{error}</pre>}
      {notices !== null && notices.first.length > 0 && (
        <ul>
          {notices.first.map(({ subject, message }) => <li>{subject}: {message}</li>)}
        </ul>
      )}
    </section>
  );
}

function Import({ visit, slug, base, address }: {
  readonly visit: Visit;
  readonly slug: string;
  readonly base: string;
  readonly address: string;
}) {
  return (
    <>
      <h3>From a server</h3>
      <p>
        The branches and tags of a Git repository, or all of a Fossil repository. Hashes stay as
        they are. The password is used once and not stored.
      </p>
      <Form visit={visit} action="start-import">
        <TextField visit={visit} name="url" label="URL" type="url" required />
        <div class="field-grid">
          <TextField visit={visit} name="username" label="User (optional)" />
          <TextField
            visit={visit}
            name="password"
            label="Password or token (optional)"
            type="password"
            autocomplete="new-password"
          />
        </div>
        <button class="primary" type="submit">Import from the URL</button>
      </Form>
      <h3>From a file</h3>
      <p>
        Fill the empty repository from a <code>.fossil</code> file, or from the stream of{" "}
        <code>git fast-export</code>. Its check-ins are read, verified and copied. Branches and tags
        keep their names.
      </p>
      <form class="form" data-upload={address} data-then={base} method="get" action={base}>
        <input type="hidden" name="csrf" value={visit.session?.csrfToken ?? ""} disabled />
        <div class="field">
          <label for="file">File</label>
          <input id="file" type="file" required />
        </div>
        <button class="primary" type="submit" disabled>Import the file</button>
        <progress class="upload" max="1" value="0" aria-label="Progress" hidden></progress>
        <p role="status" data-upload-state>The button needs the script of this page.</p>
      </form>
      <h3>From the command line</h3>
      <Copyable
        text={`muster project import ${slug} https://git.example/team/website.git`}
        label="the command for a server"
      />
      <Copyable
        text={"git for-each-ref --format='%(refname)' refs/heads refs/tags | " +
          "git fast-export --stdin --mark-tags --use-done-feature " +
          `--signed-tags=verbatim --reencode=no | muster project import ${slug} -`}
        label="the command for Git"
      />
      <Copyable
        text={`muster project import ${slug} website.fossil`}
        label="the command for Fossil"
      />
    </>
  );
}
