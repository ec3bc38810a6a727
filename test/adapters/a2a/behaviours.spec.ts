import { ComponentSession } from '../../../src/components/index.js';
import { SessionService } from '../../../src/index.js';
import { SessionPushNotificationStore, SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { describeSuite } from '../support/describe-suite.js';
import { defineListing } from './support/listing.js';
import { defineMerging } from './support/merging.js';
import { definePushNotifications } from './support/push-notifications.js';
import { defineScoping } from './support/scoping.js';
import type { OpenStores } from './support/stores.js';

const suite = { framework: 'A2A', peer: '@a2a-js/sdk', suite: "behaviours of @a2a-js/sdk's store tests" };

describeSuite(suite, (store) => {
  let opened: OpenStorage;
  let apps = 0;
  beforeAll(async () => void (opened = await store.open({})));
  afterAll(() => opened?.destroy());

  /** Stores over one database, each over an app of its own. */
  const open: OpenStores = (options = {}) => {
    const sessions = new SessionService({ storage: opened.storage });
    if (!opened.storage.components) throw new Error('The store keeps components');
    const components = new ComponentSession({ store: opened.storage.components });
    const appName = `app${++apps}`;
    return {
      appName,
      sessions,
      tasks: new SessionTaskStore({ sessions, appName, ...options }),
      push: new SessionPushNotificationStore({ components, appName, allowUrl: () => true, ...options }),
    };
  };
  defineScoping(open);
  defineMerging(open);
  defineListing(open);
  definePushNotifications(open);
});
