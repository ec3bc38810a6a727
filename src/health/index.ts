export { type DoctorHealthOptions, SessionsDoctorHealth } from './doctor-health.js';
export { SessionsHealth, type SessionsHealthOptions } from './sessions-health.js';
