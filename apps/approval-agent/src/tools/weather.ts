import type { AgentTool } from './tool.ts';

/** Usual weather, so that a demo needs no network and nobody takes it for a forecast. */
const USUAL: Record<string, string> = {
  amsterdam: 'Amsterdam: 10 °C, cloudy, wind from the west',
  bandung: 'Bandung: 23 °C, rain in the afternoon',
  berlin: 'Berlin: 10 °C, changeable',
  denpasar: 'Denpasar: 28 °C, sunny',
  jakarta: 'Jakarta: 31 °C, humid, showers in the evening',
  london: 'London: 11 °C, light rain',
  medan: 'Medan: 29 °C, thunderstorms in the evening',
  'new york': 'New York: 13 °C, clear',
  paris: 'Paris: 12 °C, cloudy',
  singapore: 'Singapore: 30 °C, showers',
  surabaya: 'Surabaya: 32 °C, sunny',
  sydney: 'Sydney: 19 °C, sunny',
  tokyo: 'Tokyo: 16 °C, clear',
  yogyakarta: 'Yogyakarta: 28 °C, clear',
};
const SOURCE = '(from a small built-in table of usual weather, not a forecast)';

/** `get_weather`: free of approval, and honest about where it has the weather from. */
export const weatherTool: AgentTool = {
  name: 'get_weather',
  description: 'The usual weather of a city, from a small built-in table.',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'Name of the city, such as Jakarta' } },
    required: ['location'],
    additionalProperties: false,
  },
  approval: 'never',
  async run(args) {
    const location = String(args['location']).trim();
    const key = location.toLowerCase().split(',', 1)[0]?.trim() ?? '';
    const found = Object.hasOwn(USUAL, key) ? USUAL[key] : undefined;
    return found ? `${found} ${SOURCE}.` : `No weather for ${location} ${SOURCE}.`;
  },
};
