import { Copyable } from "../../parts/copy.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

/** The repository as a whole: import and export. */
export const repository = definePart({
  words: "Import and export",
  isForServer: true,
  show,
  actions: {},
});

async function show(visit: Visit, { slug, base, access }: OpenProject) {
  const address = `${base}/repository`;
  const isEmpty = await visit.services.hosting.repositories.isEmpty(access.project);
  return (
    <>
      <h2>Import</h2>
      {isEmpty ? <Import {...{ visit, slug, base, address }} /> : <Filled />}
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

function Import({ visit, slug, base, address }: {
  readonly visit: Visit;
  readonly slug: string;
  readonly base: string;
  readonly address: string;
}) {
  return (
    <>
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
        <button class="primary" type="submit" disabled>Import</button>
        <progress class="upload" max="1" value="0" aria-label="Progress" hidden></progress>
        <p role="status" data-upload-state>The button needs the script of this page.</p>
      </form>
      <h3>From the command line</h3>
      <p>Large repositories are quicker this way: nothing but the stream is sent.</p>
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
