import { appConfigFrom } from '../../src/config/app.config.js';

describe('the configuration of the app', () => {
  it.each([
    [undefined, 3000],
    ['', 3000],
    ['8080', 8080],
    ['0', 0],
  ])('reads PORT %p as %p', (text, port) => {
    expect(appConfigFrom({ PORT: text }).port).toBe(port);
  });

  it.each(['abc', '-1', '65536', '80.5'])('refuses PORT %p by name', (text) => {
    expect(() => appConfigFrom({ PORT: text })).toThrow(/^PORT is ".*"; it must be a whole number from 0 to 65535\.$/);
  });

  it('keeps sessions in ./data/sessions.db', () => {
    expect(appConfigFrom({}).databaseFile).toBe('./data/sessions.db');
  });
});
