import { OpenAccess } from '../../src/sessions/rest/index.js';

/** The contract reads the prompts of model requests, too. */
export class OpenPrompts extends OpenAccess {
  override allowsPrompts(): boolean {
    return true;
  }
}
