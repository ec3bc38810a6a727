export { isPublicUrl } from './public-urls.js';
export {
  SessionPushNotificationStore,
  type SessionPushNotificationStoreOptions,
} from './session-push-notification-store.js';
export { SessionTaskStore, type SessionTaskStoreOptions } from './session-task-store.js';
export type { TaskScopeOptions } from './task-scope.js';
export { SessionRequestHandler } from './session-request-handler.js';
