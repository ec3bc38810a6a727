import { PUT_ON_AGENDA, DUE_ENTRIES, TAKE_OFF_AGENDA } from './agenda-scripts.js';
import { APPLY_APP_WRITES, CLEAR_PENDING, REGISTER, LIST_USERS } from './app-writes.js';
import { APPEND_COMMIT } from './append-commit.js';
import { CREATE_SESSION } from './create-session.js';
import { DELETE_SESSION } from './delete-session.js';
import { ACQUIRE_LEASE, RENEW_LEASE, RELEASE_LEASE } from './lease-scripts.js';
import { LIST_SESSIONS } from './list-sessions.js';
import { LOG_POSITIONS } from './log-positions.js';
import { CLAIM_USERS, PURGE_USER, RELEASE_USERS, LIST_APPS } from './purge-scripts.js';
import { READ_SESSION } from './read-session.js';
import { READ_STATE, TOUCH_STATE, WRITE_STATE } from './shared-state-scripts.js';
import { TOUCH_SESSION } from './touch-session.js';
import { TRIM_LOG } from './trim-log.js';
import type { Script } from './script.js';

/** All scripts that touch sessions; a test sees to it that none is left out. */
export const ALL_SCRIPTS: readonly Script[] = [
  PUT_ON_AGENDA,
  DUE_ENTRIES,
  TAKE_OFF_AGENDA,
  APPLY_APP_WRITES,
  CLEAR_PENDING,
  REGISTER,
  LIST_USERS,
  APPEND_COMMIT,
  CREATE_SESSION,
  DELETE_SESSION,
  ACQUIRE_LEASE,
  RENEW_LEASE,
  RELEASE_LEASE,
  LIST_SESSIONS,
  LOG_POSITIONS,
  CLAIM_USERS,
  PURGE_USER,
  RELEASE_USERS,
  LIST_APPS,
  READ_SESSION,
  READ_STATE,
  TOUCH_STATE,
  WRITE_STATE,
  TOUCH_SESSION,
  TRIM_LOG,
];
