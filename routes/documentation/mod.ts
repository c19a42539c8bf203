/** The API as a document of OpenAPI, and that document as a page. */
import type { OpenApiDocument } from "./document.ts";
import type { Page } from "./page.ts";

export {
  describeApi,
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from "./document.ts";
export { openedBy, type SecurityScheme } from "./security.ts";
export type { Page } from "./page.ts";

/** Renders the document as a page. Loads the code for that on first use. */
export async function renderDocumentation(document: OpenApiDocument): Promise<Page> {
  const page = await import("./page.ts");
  return await page.renderDocumentation(document);
}
