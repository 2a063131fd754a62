/** The page that a headless browser opens for `--backend webgpu`: does one job on its own GPU. */

export {};
