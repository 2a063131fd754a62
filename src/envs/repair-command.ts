/** Reads one command of the repair world. Knows words, no files. */

/** Lines of a file, counted from 1, both included. `file` is null for the one that is open. */
export interface Place {
  readonly file: string | null;
  readonly from: number;
  readonly to: number;
}

export type RepairCommand =
  | { readonly verb: 'help' | 'list' | 'undo' | 'submit' }
  | { readonly verb: 'view'; readonly file: string; readonly from: number; readonly to: number }
  | { readonly verb: 'search'; readonly text: string }
  | { readonly verb: 'replace'; readonly place: Place; readonly code: string }
  /** Below the line `from`; 0 is the top. */
  | { readonly verb: 'insert'; readonly place: Place; readonly code: string }
  | { readonly verb: 'delete'; readonly place: Place }
  /** `name` is null for all tests. */
  | { readonly verb: 'run'; readonly name: string | null };

const RANGE = String.raw`(\d{1,6})(?:\s*(?:-|to)\s*(\d{1,6}))?`;
const VIEW = new RegExp(`^(?:view|open|cat)\\s+(\\S+?)(?:\\s+(?:lines?\\s+)?${RANGE})?$`, 'i');
const EDIT = new RegExp(
  `^(replace|insert|delete)\\s+(?:(?:after|below|lines?)\\s+)*(?:([\\w.-]+\\.js)[:\\s]\\s*)?${RANGE}(?:\\s*(?:with\\b|:))?([\\s\\S]*)$`,
  'i',
);
const SEARCH = /^(?:search|find|grep)\s+(.+)$/i;
const RUN = /^(?:run|run\s+(?:all\s+)?(?:the\s+)?tests|run\s+test\s+(.+)|test)$/i;

/** Null for what is no command. Verbs may be in capitals; code stays as it is. */
export function readRepairCommand(action: string): RepairCommand | null {
  const text = action.trim();
  switch (text.toLowerCase()) {
    case 'help':
    case 'undo':
    case 'submit':
      return { verb: text.toLowerCase() as 'help' | 'undo' | 'submit' }; // one of these, as matched
    case 'list':
    case 'list files':
    case 'ls':
      return { verb: 'list' };
  }
  const view = VIEW.exec(text);
  if (view) {
    const [, file = '', from, to] = view;
    const first = Number(from ?? 1);
    return { verb: 'view', file, from: first, to: Number(to ?? from ?? Number.MAX_SAFE_INTEGER) };
  }
  const search = SEARCH.exec(text);
  if (search) return { verb: 'search', text: unquoted(search[1] ?? '') };
  const run = RUN.exec(text);
  if (run) return { verb: 'run', name: run[1] === undefined ? null : unquoted(run[1]) };
  const edit = EDIT.exec(text);
  return edit ? readEdit(edit) : null;
}

function readEdit([
  ,
  verb = '',
  file,
  from,
  to,
  rest = '',
]: readonly string[]): RepairCommand | null {
  const place: Place = { file: file ?? null, from: Number(from), to: Number(to ?? from) };
  const code = codeOf(rest);
  switch (verb.toLowerCase()) {
    case 'delete':
      return code === '' ? { verb: 'delete', place } : null;
    case 'insert':
      return code === '' ? null : { verb: 'insert', place, code };
    default:
      return code === '' ? null : { verb: 'replace', place, code };
  }
}

/** What stands between ``` lines, or behind the command; its own blanks at the margin are kept. */
function codeOf(rest: string): string {
  const fenced = /^\s*```[^\n]*\n([\s\S]*?)\n?[ \t]*(?:```\s*)?$/.exec(rest);
  if (fenced) return (fenced[1] ?? '').trimEnd();
  const code = rest.replace(/^[ \t]?(?:[ \t]*\n)?/, '').trimEnd();
  const ticked = /^\s*`([^`]+)`$/.exec(code);
  return ticked?.[1] ?? code;
}

function unquoted(text: string): string {
  return /^(["'`])(.+)\1$/.exec(text.trim())?.[2] ?? text.trim();
}
