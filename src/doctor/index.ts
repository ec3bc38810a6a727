export { type Diagnosis, type DiagnoseOptions, diagnose } from './diagnosis.js';
export { type DoctorOptions, type DoctorProgress, checkStore } from './doctor.js';
export { FINDINGS, type Finding, type FindingCode, type FindingKind } from './findings.js';
