import { SESSION, turn } from '../conversation.mjs';
import { expectThat, heading, result, step } from '../screen.mjs';

/** A conversation, and who sees which part of its state. */
export async function showScopes(client) {
  heading('A conversation, with state in four scopes');
  step('Ann opens a session; her name is hers, the currency is the whole shop’s');
  await client.createSession({ ...SESSION, state: { step: 'greeting', 'user:name': 'Ann', 'app:currency': 'EUR' } });
  await turn(client, 'Hello! Where is my order 1042?', 'It left our warehouse in Lyon this morning, by train.', {
    stateDelta: { step: 'tracking', 'user:language': 'en', 'temp:draft': 'never stored' },
  });
  const { state } = await client.getSession(SESSION);
  result(`this session   ${JSON.stringify(state)}`);

  const annAgain = await client.createSession({ appName: 'shop', userId: 'ann', sessionId: 'another' });
  const bob = await client.createSession({ appName: 'shop', userId: 'bob', sessionId: 'first' });
  result(`Ann’s next one ${JSON.stringify(annAgain.state)}`);
  result(`a session of Bob’s ${JSON.stringify(bob.state)}`);
  result('temp: was there for one turn, and is stored nowhere');
  expectThat(annAgain.state['user:language'] === 'en' && annAgain.state.step === undefined, 'scopes of Ann');
  expectThat(bob.state['app:currency'] === 'EUR' && bob.state['user:name'] === undefined, 'scopes of Bob');
  expectThat(!JSON.stringify(state).includes('temp:'), 'a temporary key was stored');
}
