/** Opens the report: everything that can be said of the runs kept here, or of an experiment. */

import { lazy, Suspense, useState } from 'react';
import { reportButton as say } from './strings.ts';

const ReportDialog = lazy(() =>
  import('./report-dialog.tsx').then((module) => ({ default: module.ReportDialog })),
);

export function ReportButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button small"
        aria-haspopup="dialog"
        data-tip={say.help}
        onClick={() => setOpen(true)}
      >
        {say.report}
      </button>
      <Suspense>{open && <ReportDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
