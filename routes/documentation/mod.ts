/** The API as a document of OpenAPI, and that document as a page. */
export {
  describeApi,
  type OpenApiDocument,
  OPERATION_METHODS,
  type OperationMethod,
  operationsOf,
  type PlacedOperation,
} from "./document.ts";
export { type Page, renderDocumentation } from "./page.ts";
export { openedBy, SECURITY_SCHEMES, type SecurityScheme } from "./security.ts";
