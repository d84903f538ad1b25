import process from 'node:process';
import { styleText } from 'node:util';

export type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold';

/** Where a command writes. */
export interface Terminal {
  /** Results. */
  out(text: string): void;
  /** What was wrong and what to do. */
  err(text: string): void;
  /** Colours text for a person; returns it unchanged where nobody sees colours. */
  paint(colour: Colour, text: string): string;
}

/** The streams of this process; colours only on a terminal, and not under `NO_COLOR`. */
export function processTerminal(): Terminal {
  const colours = process.stdout.isTTY === true && !process.env['NO_COLOR'];
  return {
    out: (text) => {
      process.stdout.write(text);
    },
    err: (text) => {
      process.stderr.write(text);
    },
    paint: (colour, text) => (colours ? styleText(colour, text, { validateStream: false }) : text),
  };
}

/** Transcripts may come from anybody: their text must not steer the terminal that shows it. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|\p{Cf}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
