import type { Deliver } from './mail-delivery.ts';
import type { AgentTool } from './tool.ts';

/** `send_email`: wants an approval for each message. */
export function emailTool(from: string, deliver: Deliver): AgentTool {
  const text = (description: string) => ({ type: 'string', description });
  return {
    name: 'send_email',
    description: 'Sends an e-mail of plain text.',
    parameters: {
      type: 'object',
      properties: {
        to: text('Address of the recipient; several are separated by commas'),
        subject: text('Subject line'),
        body: text('Text of the message'),
      },
      required: ['to', 'subject', 'body'],
      additionalProperties: false,
    },
    approval: 'required',
    run: ({ to, subject, body }, call) =>
      deliver({ from, to: String(to), subject: String(subject), text: String(body) }, call),
  };
}
