/** Two sets of settings side by side, a row for each name that is given. */

import { type Field, type FieldName, fields, type Settings } from '../config.ts';
import { settingText } from './numbers.ts';
import { settingsTable as say } from './strings.ts';

interface Column {
  readonly title: string;
  readonly settings: Settings;
}

export function SettingsTable({
  names,
  changed,
  left,
  right,
}: {
  names: readonly FieldName[];
  /** The rows to be marked as differing, where not all of them do. */
  changed?: readonly FieldName[];
  left: Column;
  right: Column;
}) {
  return (
    <table className="frozen">
      <thead>
        <tr>
          <th scope="col">{say.setting}</th>
          <th scope="col">{left.title}</th>
          <th scope="col">{right.title}</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => {
          const field: Field = fields[name];
          return (
            <tr key={name} data-changed={changed?.includes(name)}>
              <th scope="row" data-tip={field.help}>
                {field.label}
              </th>
              <td>{settingText(left.settings[name])}</td>
              <td>{settingText(right.settings[name])}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
