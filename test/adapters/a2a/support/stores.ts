import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { SessionService } from '../../../../src/index.js';
import type { SessionPushNotificationStore, SessionTaskStore } from '../../../../src/adapters/a2a/index.js';

/** The stores that a test uses. */
export interface Stores {
  readonly appName: string;
  readonly sessions: SessionService;
  readonly tasks: SessionTaskStore;
  readonly push: SessionPushNotificationStore;
}

/** Opens stores that nobody has written to. */
export type OpenStores = (options?: { readonly userId?: (context: ServerCallContext) => string }) => Stores;
