/** A unified diff, line by line, with its signs, so that colour is not needed to read it. */

import './diff-text.css';

type LineKind = 'added' | 'removed' | 'file' | 'place' | 'same';

export function DiffText({ diff }: { diff: string }) {
  const lines = diff
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(?:diff --git|---) /.test(line));
  return (
    <pre className="diff">
      {lines.map((line, i) => (
        <span key={i} data-kind={kindOf(line)}>
          {line.startsWith('+++ b/') ? line.slice('+++ b/'.length) : line}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

function kindOf(line: string): LineKind {
  if (line.startsWith('+++ ')) return 'file';
  if (line.startsWith('@@')) return 'place';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}
