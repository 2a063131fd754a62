/** Three buttons that take a picture and its numbers home: SVG, PNG, CSV. Knows no chart. */

import { saveText } from './actions.ts';
import { Icon } from './icons.tsx';
import { attempt } from './report.ts';
import { savePng, saveSvg } from './save-picture.ts';
import { saveButtons as say } from './strings.ts';

export function SaveButtons({
  name,
  svg,
  table,
  csv,
}: {
  /** Of the picture's file, without its ending. */
  name: string;
  /** The picture, made when it is asked for; null where nothing is drawn. */
  svg: (() => string) | null;
  /** Of the file of numbers, without its ending. */
  table: string;
  csv: () => string;
}) {
  return (
    <div className="dialog-buttons">
      <button
        type="button"
        className="button"
        disabled={!svg}
        onClick={() => svg && saveSvg(name, svg())}
      >
        <Icon name="save" />
        {say.svg}
      </button>
      <button
        type="button"
        className="button"
        disabled={!svg}
        onClick={() => svg && void attempt(say.pictureFailed, () => savePng(name, svg()))}
      >
        <Icon name="save" />
        {say.png}
      </button>
      <button
        type="button"
        className="button"
        onClick={() => saveText(`${table}.csv`, csv(), 'text/csv')}
      >
        <Icon name="save" />
        {say.csv}
      </button>
    </div>
  );
}
