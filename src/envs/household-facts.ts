/** What is known of ALFRED's household: object and receptacle types and floor plans. Facts from alfworld and ALFRED (MIT). */

import facts from './household-facts.json';

export interface ObjectFacts {
  readonly name: string;
  readonly pickupable: boolean;
  readonly heatable?: boolean;
  readonly coolable?: boolean;
  readonly cleanable?: boolean;
  readonly sliceable?: boolean;
  readonly toggleable?: boolean;
  readonly canHoldObjects?: readonly string[];
}

export interface ReceptacleFacts {
  readonly name: string;
  readonly openable: boolean;
  readonly canContain: readonly string[];
}

/** One of ALFRED's 120 rooms. */
export interface FloorPlan {
  readonly id: number;
  readonly room: string;
  /** Receptacle type to how many. */
  readonly receptacles: Readonly<Partial<Record<string, number>>>;
  /** Types that stand there too, whose number is not known. */
  readonly also: readonly string[];
  /** Types whose instances share a place to stand. */
  readonly shared: readonly (readonly string[])[];
  readonly objects: readonly string[];
  readonly lamps: readonly string[];
}

export const OBJECTS: Readonly<Partial<Record<string, ObjectFacts>>> = facts.objects;
export const RECEPTACLES: Readonly<Partial<Record<string, ReceptacleFacts>>> = facts.receptacles;
export const PLANS: readonly FloorPlan[] = facts.plans;

/** Floor plans that training never sees. */
export const UNSEEN_PLANS: readonly number[] = [10, 219, 308, 424];

const contents = new Map(
  Object.entries(RECEPTACLES).map(([type, r]) => [type, new Set(r?.canContain)]),
);

/** Whether a receptacle type may hold an object type, as ALFRED spells both. */
export function mayContain(receptacle: string, object: string): boolean {
  return contents.get(receptacle)?.has(object) ?? false;
}

const objectTypes = new Map(
  Object.entries(OBJECTS).flatMap(([type, o]) => (o === undefined ? [] : [[o.name, type]])),
);
const receptacleTypes = new Map(
  Object.entries(RECEPTACLES).flatMap(([type, r]) => (r === undefined ? [] : [[r.name, type]])),
);

/** Whether a receptacle type may hold an object type, both as lower-case words. */
export function mayHold(receptacle: string, object: string): boolean {
  const type = objectTypes.get(object) ?? '';
  const lamp = LAMPS.includes(type) && LAMP_PLACES.includes(receptacle);
  return lamp || mayContain(receptacleTypes.get(receptacle) ?? '', type);
}

const LAMPS: readonly string[] = ['DeskLamp', 'FloorLamp'];
/** Where a lamp may stand; nobody carries one. */
export const LAMP_PLACES: readonly string[] = [
  'desk',
  'sidetable',
  'dresser',
  'shelf',
  'coffeetable',
  'diningtable',
  'tvstand',
];
