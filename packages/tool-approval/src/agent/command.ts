/** The answer of a person to the review that waits: `new Command({resume: {decisions: [...]}})`. */
export class Command {
  /** `{decisions}`, or its JSON text. */
  readonly resume: unknown;
  /** The review that is meant; without it, whichever waits. */
  readonly reviewId: string | undefined;

  constructor({ resume, reviewId }: { resume: unknown; reviewId?: string }) {
    this.resume = resume;
    this.reviewId = reviewId;
  }
}
