import { forOperator } from "../projects/operator_operation.ts";
import * as mirrors from "./operations.ts";

const ofProject = forOperator({ from: "/api/mirror", to: "/v1/projects/{slug}/mirror" });

export const getProjectMirror = ofProject(mirrors.getMirror);
export const setProjectMirror = ofProject(mirrors.setMirror);
export const deleteProjectMirror = ofProject(mirrors.deleteMirror);
export const runProjectMirror = ofProject(mirrors.runMirror);
