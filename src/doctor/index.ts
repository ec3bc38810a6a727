export { type Diagnosis, type DiagnoseOptions, diagnose } from './diagnosis.js';
export {
  type CheckedStore,
  type DoctorOptions,
  type DoctorProgress,
  type DoctorSettings,
  checkStore,
} from './doctor.js';
export { FINDINGS, type Finding, type FindingCode, type FindingKind } from './findings.js';
