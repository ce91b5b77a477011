import type { ToolSchema } from '@plangate/contracts';

const text = { type: 'string' };

/** Tools as the approval agent offers them. */
export const chatTools: ToolSchema[] = [
  {
    name: 'get_weather',
    description: 'The weather of a place.',
    parameters: { type: 'object', properties: { location: text }, required: ['location'] },
  },
  {
    name: 'send_email',
    description: 'Sends an e-mail.',
    parameters: {
      type: 'object',
      properties: { to: text, subject: text, body: text },
      required: ['to', 'subject', 'body'],
    },
  },
];
