import { forOperator } from "../projects/operator_operation.ts";
import * as imports from "./operations.ts";

const ofProject = forOperator({ from: "/api/import", to: "/v1/projects/{slug}/import" });

export const getProjectImport = ofProject(imports.getImport);
export const startProjectImport = ofProject(imports.startImport);
export const cancelProjectImport = ofProject(imports.cancelImport);
