/** What colours a terminal: escape sequences. A page shows the text without them. */
// oxlint-disable-next-line no-control-regex
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g

/** Invisible characters, and those that change the direction of text: with them a text could look like another one. */
// oxlint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g

/** A text of users as a page shows it: without escape sequences, with invisible characters made visible. */
export function printable(text: string): string {
  return text
    .replace(escapes, '')
    .replace(unseen, (character) =>
      character === '\r'
        ? ''
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}
