/** How the names of this program's own files end, so that a dropped file is known for what it is. */

/** Every run of a browser as one zip. */
export const notebookEnding = '.attt-notebook.zip';
