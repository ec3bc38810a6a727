import { shown } from '../../src/cli/output.js';

it.each([
  ['\u001b[31m', '\\u001b[31m'],
  ['a\nb\tc', 'a\\nb\\tc'],
  ['\u007f', '\\u007f'],
  ['\u009b31m', '\\u009b31m'],
  ['\u202eabc\u2066', '\\u202eabc\\u2066'],
  ['\u2028', '\\u2028'],
  ['Grüße, 你好 🙂', 'Grüße, 你好 🙂'],
])('the command line shows %j as %j, which no terminal acts on', (text, expected) => {
  expect(shown(text)).toBe(expected);
});
