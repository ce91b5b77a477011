import type { ChatLanguage } from './language.ts';
import type { Missing } from './rule.ts';

interface ChatPhrases {
  /** A tool ran and said nothing. */
  done(tool: string): string;
  /** A call that was rejected or failed, with the reason. */
  notRun(tool: string, reason: string): string;
  missing(missing: Missing): string;
  nothing(tools: string[]): string;
}

/** The sentences of the offline provider in a chat. */
export const CHAT_PHRASES: Record<ChatLanguage, ChatPhrases> = {
  en: {
    done: (tool) => `${tool} is done.`,
    notRun: (tool, reason) => `${tool} did not go through: ${reason}`,
    missing: ({ tool, fields }) => `For ${tool} I still need: ${fields.join(', ')}.`,
    nothing: (tools) =>
      tools.length === 0
        ? 'I am the offline provider: I answer by rules, without a model, and there is no tool here that I could call.'
        : `I am the offline provider: I work by rules, without a model. I can call these tools from a plain sentence: ${tools.join(', ')}. Such as: "email alice@example.com that the meeting is at 10" or "what is the weather in Jakarta".`,
  },
  id: {
    done: (tool) => `${tool} selesai.`,
    notRun: (tool, reason) => `${tool} tidak berhasil: ${reason}`,
    missing: ({ tool, fields }) => `Untuk ${tool} saya masih butuh: ${fields.join(', ')}.`,
    nothing: (tools) =>
      tools.length === 0
        ? 'Saya penyedia luring: saya menjawab dengan aturan, tanpa model, dan di sini tidak ada tool yang bisa saya panggil.'
        : `Saya penyedia luring: saya bekerja dengan aturan, tanpa model. Saya bisa memanggil tool berikut dari kalimat biasa: ${tools.join(', ')}. Contoh: "kirim email ke budi@example.com bahwa rapat jam 10" atau "bagaimana cuaca di Bandung".`,
  },
};
