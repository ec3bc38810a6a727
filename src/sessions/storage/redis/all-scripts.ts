import { APPLY_APP_WRITES, CLEAR_PENDING, REGISTER } from './app-scope/cluster-app-scope.js';
import { AUDIT_ENTRIES } from './audit/audit-entries.js';
import { AUDIT_PART, AUDIT_STATE } from './audit/audit-key.js';
import { AUDIT_EVENTS, AUDIT_IDS } from './audit/audit-ids.js';
import { AUDIT_MEMBERS } from './audit/audit-members.js';
import { AUDIT_SCORE, AUDIT_SESSION } from './audit/audit-session.js';
import { GROUPED_EVENTS } from './audit/grouped-events.js';
import { CREATE_SESSION } from './append/create-session.lua.js';
import { FIND_SESSION, LEAVE_SESSION } from './append/hold-session.js';
import { WRITE_SESSIONS } from './append/write-sessions.lua.js';
import { COUNT_ENTRIES, FIND_ENTRIES, RANGE_ENTRIES, WRITE_ENTRIES } from './entries/entry-scripts.js';
import { DELETE_SESSION } from './expire/delete-session.js';
import { CLAIM_USERS, LIST_APPS, PURGE_USER, RELEASE_USERS } from './expire/purge-expired.js';
import { LIST_FILTERED, LIST_SESSIONS } from './list/list-sessions.lua.js';
import { LIST_USERS } from './list/list-sessions.js';
import { LOG_TAILS } from './live/log-tails.js';
import { FIND_CHANGED, HINT_AT_SLOTS, TAKE_HINTS } from './live/redis-marks.js';
import { READ_SESSION } from './read/read-session.js';
import { READ_USAGE } from './read/read-usage.js';
import type { Script } from './script/script.js';
import { READ_STATE, COUNT_STATE, WRITE_STATE } from './state/shared-state.js';
import { ERASE_SHARED, USER_SESSIONS } from './transfer/erase-user.js';
import { RESTORE_USAGE } from './transfer/restore-usage.js';

/** The scripts whose commands the user must be permitted to run. A test checks that none is missing. */
export const ALL_SCRIPTS: readonly Script[] = [
  CREATE_SESSION,
  WRITE_SESSIONS,
  FIND_SESSION,
  LEAVE_SESSION,
  READ_SESSION,
  READ_USAGE,
  LIST_SESSIONS,
  LIST_FILTERED,
  LIST_USERS,
  READ_STATE,
  COUNT_STATE,
  WRITE_STATE,
  DELETE_SESSION,
  CLAIM_USERS,
  PURGE_USER,
  RELEASE_USERS,
  LIST_APPS,
  LOG_TAILS,
  FIND_ENTRIES,
  RANGE_ENTRIES,
  COUNT_ENTRIES,
  WRITE_ENTRIES,
  FIND_CHANGED,
  HINT_AT_SLOTS,
  TAKE_HINTS,
  APPLY_APP_WRITES,
  CLEAR_PENDING,
  REGISTER,
  RESTORE_USAGE,
  USER_SESSIONS,
  ERASE_SHARED,
  AUDIT_SESSION,
  AUDIT_SCORE,
  AUDIT_MEMBERS,
  AUDIT_PART,
  AUDIT_STATE,
  AUDIT_ENTRIES,
  AUDIT_EVENTS,
  AUDIT_IDS,
  GROUPED_EVENTS,
];
