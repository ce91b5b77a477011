import { pythonList, pythonText } from './python-text.ts';
import { ALLOWED_DECISIONS } from './texts.ts';

/** A rule of the conversation was broken; nothing has changed (contract/tool-approval.md §1 and §3). */
export class DomainError extends Error {
  override readonly name: string = 'DomainError';
}

export class EmptyMessageError extends DomainError {
  override readonly name = 'EmptyMessageError';
  constructor() {
    super('Message tidak boleh kosong');
  }
}

/** A chat message came while actions wait for a decision. */
export class ReviewPendingError extends DomainError {
  override readonly name = 'ReviewPendingError';
  constructor() {
    super('Masih ada aksi yang menunggu persetujuan. Kirim keputusannya dulu.');
  }
}

/** Decisions came while nothing waits for one. */
export class NoPendingReviewError extends DomainError {
  override readonly name = 'NoPendingReviewError';
  constructor() {
    super('Tidak ada aksi yang menunggu persetujuan di percakapan ini');
  }
}

/** The decisions answer another review than the one that is pending. */
export class StaleReviewError extends DomainError {
  override readonly name = 'StaleReviewError';
  constructor() {
    super('Review ini sudah tidak berlaku');
  }
}

/** Another chat or review call of the thread is under way. */
export class TurnRunningError extends DomainError {
  override readonly name = 'TurnRunningError';
  constructor(asked: 'chat' | 'review') {
    super(asked === 'chat' ? 'Percakapan sedang diproses' : 'Keputusan lain sedang diproses');
  }
}

/** The decisions do not fit the actions that wait. */
export class InvalidReviewDecisionError extends DomainError {
  override readonly name = 'InvalidReviewDecisionError';

  static wrongNumber(wanted: number, given: number): InvalidReviewDecisionError {
    return new InvalidReviewDecisionError(`Butuh ${wanted} keputusan (satu per aksi), diterima ${given}`);
  }
  static unknownType(type: unknown): InvalidReviewDecisionError {
    const choice = pythonList(ALLOWED_DECISIONS);
    return new InvalidReviewDecisionError(
      `Jenis keputusan '${pythonText(type)}' tidak dikenal. Pilihan: ${choice}`,
    );
  }
  static editWithoutAction(): InvalidReviewDecisionError {
    return new InvalidReviewDecisionError("Keputusan 'edit' wajib menyertakan 'edited_action'");
  }
  static malformedAction(): InvalidReviewDecisionError {
    return new InvalidReviewDecisionError("'edited_action' harus berisi 'name' (teks) dan 'args' (objek)");
  }
  static messageNotText(): InvalidReviewDecisionError {
    return new InvalidReviewDecisionError("'message' harus berupa teks");
  }
  static noDecisions(): InvalidReviewDecisionError {
    return new InvalidReviewDecisionError("'resume' harus berisi 'decisions' (daftar)");
  }
}

/** A tool threw. Its call has an error result, the other calls of the turn have theirs, the thread goes on. */
export class ToolFailedError extends Error {
  override readonly name = 'ToolFailedError';
  readonly tool: string;
  constructor(tool: string, options?: ErrorOptions) {
    super(`${tool} failed`, options);
    this.tool = tool;
  }
}

/** What the model returned is no message. The turn ends; the thread goes on. */
export class ModelReplyError extends Error {
  override readonly name = 'ModelReplyError';
}

/** A step that does not belong here: a bug of the driver, or a state that was tampered with. */
export class IllegalStepError extends Error {
  override readonly name = 'IllegalStepError';
}
