import { html, raw } from "hono/html";
import MarkdownIt from "markdown-it";
import css from "./page.css" with { type: "text" };
import { type OpenApiDocument, operationsOf, type PlacedOperation } from "./document.ts";
import { type Html, notesOf, type Schema, typeOf } from "./schema_text.ts";

const renderer = new MarkdownIt();

/** Renders a line of Markdown, such as a description of the API's document. HTML is escaped. */
function markdown(text: string): Html {
  return raw(renderer.renderInline(text));
}

/** A page, and its Content-Security-Policy. */
export interface Page {
  readonly body: string;
  readonly contentSecurityPolicy: string;
}

/** Renders the API's document as a page without external resources or scripts. */
export async function renderDocumentation(document: OpenApiDocument): Promise<Page> {
  const operations = operationsOf(document);
  const groups = (document.tags ?? []).map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags?.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
  const page = html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${document.info.title} API</title>
        <style>${raw(css)}</style>
      </head>
      <body>
        <nav aria-label="Endpoints">${groups.map(navigation)}${schemaNavigation(schemas)}</nav>
        <main>
              <header>
                <h1>${document.info.title} API <small>${document.info.version}</small></h1>
                <p>${markdown(document.info.description ?? "")}</p>
                <p>This page as a document of OpenAPI 3.1: <a href="/openapi.json">openapi.json</a></p>
              </header>
              ${credentials(document)} ${groups.map(section)}
              <section>
                <h2 id="schemas">Schemas</h2>
                ${schemas.map(([name, schema]) => schemaArticle(name, schema))}
              </section>
            </main>
      </body>
    </html>
  `;
  return {
    body: String(await page),
    contentSecurityPolicy: `default-src 'none'; style-src '${await sourceHash(css)}'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
}

interface Section {
  readonly name: string;
  readonly description?: string;
  readonly operations: readonly PlacedOperation[];
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}

function navigation({ name, operations }: Section): Html {
  return html`
    <h2><a href="#${anchor(name)}">${name}</a></h2>
    <ul>${operations.map(({ path, method, operation }) =>
      html`<li><a href="#${operation.operationId}"><b class="${method}">${method}</b>
      <span>${path}</span></a></li>`
    )}</ul>
  `;
}

function schemaNavigation(schemas: readonly [string, Schema][]): Html {
  return html`
    <h2><a href="#schemas">Schemas</a></h2>
    <ul>${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
  `;
}

function credentials(document: OpenApiDocument): Html {
  const schemes = Object.entries(document.components?.securitySchemes ?? {});
  const rows = schemes.map(([name, scheme]) => {
    if ("$ref" in scheme) return html``;
    const how = scheme.type === "http"
      ? `Authorization: ${scheme.scheme === "basic" ? "Basic" : "Bearer"}`
      : `${scheme.in ?? ""} ${scheme.name ?? ""}`;
    return html`
      <tr>
        <th scope="row">${name}</th>
        <td><code>${how}</code></td>
        <td>${markdown(scheme.description ?? "")}</td>
      </tr>
    `;
  });
  return html`
    <section>
      <h2 id="credentials">Credentials</h2>
      <table class="fields">${rows}</table>
    </section>
  `;
}

function section({ name, description, operations }: Section): Html {
  return html`<section>
    <h2 id="${anchor(name)}">${name}</h2>
    <p>${markdown(description ?? "")}</p>
    ${operations.map(operationArticle)}
  </section>`;
}

function operationArticle({ path, method, operation }: PlacedOperation): Html {
  const schemes = (operation.security ?? []).flatMap(Object.keys);
  return html`<article id="${operation.operationId}">
    <h3><b class="${method}">${method}</b> <code>${path}</code></h3>
    <p>${markdown(operation.summary ?? "")}.
      <small>${
    schemes.length === 0 ? "No credential." : `Credential: ${schemes.join(", ")}.`
  }</small>
    </p>
    ${parameters(operation)} ${requestBody(operation)} ${responses(operation)}
  </article>`;
}

type Operation = PlacedOperation["operation"];

function parameters({ parameters = [] }: Operation): Html {
  const rows = parameters.map((parameter) => {
    if ("$ref" in parameter) return html``;
    const schema = (parameter.schema ?? {}) as Schema;
    const notes = parameter.description ?? notesOf(schema);
    return html`
      <tr>
        <th scope="row">${parameter.name}</th>
        <td>${parameter.in}</td>
        <td>${typeOf(schema)}${parameter.required === true
          ? html`
            <em>required</em>
          `
          : ""}</td>
        <td>${markdown(notes)}</td>
      </tr>
    `;
  });
  return rows.length === 0 ? html`` : html`
    <h4>Parameters</h4>
    <table class="fields">${rows}</table>
  `;
}

interface Content {
  readonly schema?: unknown;
}

function content(types: Readonly<Record<string, Content>> | undefined): Html {
  const entries = Object.entries(types ?? {});
  return html`${
    entries.map(([type, { schema }]) =>
      html`
        <span>${typeOf((schema ?? {}) as Schema)} <small>${type}</small></span>
      `
    )
  }`;
}

function requestBody({ requestBody: body }: Operation): Html {
  if (body === undefined || "$ref" in body) return html``;
  const optional = body.required === true ? "" : html`
    <em>optional</em>
  `;
  return html`
    <h4>Body</h4>
    <p>${content(body.content)}${optional}</p>
    ${Object.values(body.content).map(example)}
  `;
}

function example({ example }: { readonly example?: unknown }): Html {
  if (example === undefined) return html``;
  return html`<pre><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}

function responses({ responses = {} }: Operation): Html {
  const all = Object.entries(responses).flatMap(([status, response]) =>
    "$ref" in response ? [] : [{ status, ...response }]
  );
  const successes = all.filter(({ status }) => status.startsWith("2")).map((response) =>
    html`
      <tr>
        <th scope="row">${response.status}</th>
        <td>${markdown(response.description)}</td>
        <td>${content(response.content)}</td>
      </tr>
    `
  );
  return html`<h4>Answers</h4><table class="answers">${successes}</table>
    ${failures(all.filter(({ status }) => !status.startsWith("2")))}`;
}

/** Errors have one form, so the page shows only their statuses. */
function failures(responses: readonly { status: string; description: string }[]): Html {
  if (responses.length === 0) return html``;
  const rows = responses.map(({ status, description }) =>
    html`
      <tr>
        <th scope="row">${status}</th>
        <td>${markdown(description)}</td>
      </tr>
    `
  );
  return html`
    <details>
      <summary>Errors ${responses.map(({ status }) =>
        html`
          <code>${status}</code>
        `
      )}</summary>
      <table class="answers">${rows}</table>
    </details>
  `;
}

function schemaArticle(name: string, schema: Schema): Html {
  return html`<article id="schema-${name}">
    <h3>${name}</h3>
    ${schema.properties === undefined ? html`<p>${typeOf(schema)}</p>` : ""}
    <table class="fields">${fields(schema, "")}</table>
  </article>`;
}

/** A row for each field, and for those of the objects within it. */
function fields(schema: Schema, prefix: string): Html[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    html`
      <tr>
        <th scope="row">${prefix}${name}</th>
        <td>${typeOf(field)}${schema.required?.includes(name)
          ? html`
            <em>required</em>
          `
          : ""}</td>
        <td>${markdown(notesOf(field))}</td>
      </tr>
    `,
    ...fields(field, `${prefix}${name}.`),
  ]);
}

/** How a Content-Security-Policy names an inline style sheet (CSP level 3, "hash-source"). */
async function sourceHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}
