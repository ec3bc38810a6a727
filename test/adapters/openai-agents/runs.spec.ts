import { MemorySession } from '@openai/agents-core';
import { describeSuite } from '../support/describe-suite.js';
import { type Story, scenarios } from './support/scenarios.js';
import { KEY, sessionsOn } from './support/sessions.js';

const suite = {
  framework: 'OpenAI Agents',
  peer: '@openai/agents-core',
  suite: "runs of the SDK's Runner, compared with its MemorySession",
};

/** The real Runner with the scripted model of the SDK: what it sends and stores is the same as with the SDK's own session. */
describeSuite(suite, (store) => {
  const { open } = sessionsOn(store);

  for (const [name, scenario] of Object.entries(scenarios)) {
    it(`does the same as a session in memory: ${name}`, async () => {
      const own = new MemorySession({ sessionId: KEY.sessionId });
      const [ownStory, story]: [Story, Story] = [[], []];
      await scenario(own, ownStory);
      const { session } = await open();
      await scenario(session, story);
      expect(story).toEqual(ownStory);
      expect(story.length).toBeGreaterThan(0);
      expect(await session.getItems()).toEqual(await own.getItems());
    });
  }
});
